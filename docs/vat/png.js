// Reads PNG files of three channels of 16 bits, without interlace.

export async function readPng(buffer) {
  const view = new DataView(buffer);
  const parts = [];
  let width = 0;
  let height = 0;
  for (let place = 8; place < view.byteLength; ) {
    const size = view.getUint32(place);
    const kind = String.fromCharCode(...new Uint8Array(buffer, place + 4, 4));
    if (kind === "IHDR") {
      width = view.getUint32(place + 8);
      height = view.getUint32(place + 12);
      if (view.getUint8(place + 16) !== 16 || view.getUint8(place + 17) !== 2) {
        throw new Error("the texture is no PNG of 16 bits a channel");
      }
    }
    if (kind === "IDAT") parts.push(new Uint8Array(buffer, place + 8, size));
    place += size + 12;
  }
  const stream = new Blob(parts).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return { width, height, values: unfilter(bytes, 6 * width, height) };
}

// Undoes the filters of the rows, and joins the two bytes of each value.
function unfilter(bytes, length, height) {
  const values = new Uint16Array((length / 2) * height);
  let above = new Uint8Array(length);
  for (let row = 0; row < height; row++) {
    const start = row * (length + 1);
    const filter = bytes[start];
    const plain = bytes.slice(start + 1, start + 1 + length);
    for (let place = 0; place < length; place++) {
      const left = place < 6 ? 0 : plain[place - 6];
      const corner = place < 6 ? 0 : above[place - 6];
      plain[place] += [0, left, above[place], (left + above[place]) >> 1,
        paeth(left, above[place], corner)][filter];
    }
    for (let place = 0; place < length; place += 2) {
      values[(row * length + place) / 2] = (plain[place] << 8) | plain[place + 1];
    }
    above = plain;
  }
  return values;
}

function paeth(left, above, corner) {
  const guess = left + above - corner;
  const [a, b, c] = [left, above, corner].map((value) => Math.abs(guess - value));
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}
