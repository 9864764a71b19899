// Runs a vertex shader on all vertices at some times, and returns its outputs `moved`.
const given = GIVEN;
const canvas = document.createElement("canvas");
const gl = canvas.getContext("webgl2");
const program = gl.createProgram();
const output = given.source.match(/out (?:highp )?vec3 (\w*moved\w*);/)[1];
const fragment = "#version 300 es\nprecision highp float; void main() {}";
for (const [kind, source] of [[gl.VERTEX_SHADER, given.source], [gl.FRAGMENT_SHADER, fragment]]) {
  const shader = gl.createShader(kind);
  gl.shaderSource(shader, source);
  gl.compileShader(shader);
  if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) {
    throw new Error(gl.getShaderInfoLog(shader) + source);
  }
  gl.attachShader(program, shader);
}
gl.transformFeedbackVaryings(program, [output], gl.INTERLEAVED_ATTRIBS);
gl.linkProgram(program);
if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
gl.useProgram(program);

let count = 0;
for (const [name, rows] of Object.entries(given.inputs)) {
  const place = gl.getAttribLocation(program, name);
  if (place < 0) throw new Error(`the shader has no input ${name}:\n${given.source}`);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(rows.flat()), gl.STATIC_DRAW);
  gl.enableVertexAttribArray(place);
  gl.vertexAttribPointer(place, rows[0].length, gl.FLOAT, false, 0, 0);
  count = rows.length;
}

// Compilers put uniforms into a structure, so the end of a name tells which it is.
function place(name) {
  const every = Array.from({ length: gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) },
    (_, number) => gl.getActiveUniform(program, number));
  const found = every.find((each) => each.name.split(/[.[]/).includes(name));
  if (!found) throw new Error(`the shader has no uniform ${name}:\n${given.source}`);
  return [gl.getUniformLocation(program, found.name), found.type];
}

function set(name, values) {
  const [where, type] = place(name);
  const calls = { [gl.FLOAT]: "uniform1fv", [gl.FLOAT_VEC3]: "uniform3fv", [gl.FLOAT_VEC4]: "uniform4fv" };
  gl[calls[type]](where, values);
}
for (const [name, values] of Object.entries(given.uniforms)) set(name, values);

const { width, height, colors } = given.texture;
gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB32F, width, height, 0, gl.RGB, gl.FLOAT, new Float32Array(colors));
for (const which of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) {
  gl.texParameteri(gl.TEXTURE_2D, which, gl.NEAREST);
}

const moved = gl.createBuffer();
gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, moved);
gl.bufferData(gl.TRANSFORM_FEEDBACK_BUFFER, 12 * count, gl.STREAM_READ);
gl.enable(gl.RASTERIZER_DISCARD);
return given.times.map((time) => {
  set(given.clock, place(given.clock)[1] === gl.FLOAT ? [time] : [0, time, 0, 0]);
  gl.beginTransformFeedback(gl.POINTS);
  gl.drawArrays(gl.POINTS, 0, count);
  gl.endTransformFeedback();
  const found = new Float32Array(3 * count);
  gl.getBufferSubData(gl.TRANSFORM_FEEDBACK_BUFFER, 0, found);
  if (gl.getError()) throw new Error("WebGL reports an error");
  return Array.from(found);
});
