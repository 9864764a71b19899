// Plays a vertex animation texture in the layout of OpenVAT: NAME.glb, NAME.png, NAME-vnrm.png,
// and NAME-remap_info.json, beside this page.
import * as THREE from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { readPng } from "./png.js";

// The frame between two rows is mixed, as engines do. Blender's x, y, z are glTF's x, z, -y.
const LOOKUP = /* glsl */ `
  uniform sampler2D motion, turning;
  uniform vec3 low, high;
  uniform float frame;
  uniform int frames;

  vec3 lookup(sampler2D image, vec2 place, int number) {
    ivec2 size = textureSize(image, 0);
    ivec2 pixel = ivec2(floor(place * vec2(size)));
    return texelFetch(image, pixel + ivec2(0, number), 0).rgb;
  }

  vec3 mixed(sampler2D image, vec2 place) {
    int first = int(floor(frame));
    vec3 before = lookup(image, place, first % frames);
    return mix(before, lookup(image, place, (first + 1) % frames), frame - float(first));
  }

  vec3 yUp(vec3 blender) { return vec3(blender.x, blender.z, -blender.y); }

  vec3 moved(vec3 rest, vec2 place) { return rest + yUp(low + mixed(motion, place) * (high - low)); }
`;

const SHOWN = {
  vertexShader: /* glsl */ `
    ${LOOKUP}
    attribute vec2 uv1;
    varying vec3 normalInView;
    void main() {
      vec3 normal = yUp(2.0 * mixed(turning, uv1) - 1.0);
      normalInView = normalMatrix * normal;
      gl_Position = projectionMatrix * modelViewMatrix * vec4(moved(position, uv1), 1.0);
    }`,
  fragmentShader: /* glsl */ `
    varying vec3 normalInView;
    void main() {
      vec3 normal = normalize(normalInView) * (gl_FrontFacing ? 1.0 : -1.0);
      float light = 0.35 + 0.65 * max(dot(normal, normalize(vec3(0.4, 0.7, 0.6))), 0.0);
      gl_FragColor = vec4(pow(vec3(0.75, 0.16, 0.12) * light, vec3(1.0 / 2.2)), 1.0);
    }`,
};

// Draws the place of each vertex as the color of a pixel of its own.
const MEASURED = {
  vertexShader: /* glsl */ `
    ${LOOKUP}
    attribute vec2 uv1;
    attribute float number;
    uniform vec2 size;
    varying vec3 place;
    void main() {
      place = (modelMatrix * vec4(moved(position, uv1), 1.0)).xyz;
      vec2 pixel = vec2(mod(number, size.x), floor(number / size.x));
      gl_Position = vec4((pixel + 0.5) / size * 2.0 - 1.0, 0.0, 1.0);
      gl_PointSize = 1.0;
    }`,
  fragmentShader: /* glsl */ `
    varying vec3 place;
    void main() { gl_FragColor = vec4(place, 1.0); }`,
};

export async function load(name) {
  const [gltf, remap, motion, turning] = await Promise.all([
    new GLTFLoader().loadAsync(`${name}.glb`),
    fetched(`${name}-remap_info.json`).then((found) => found.json()),
    fetched(`${name}.png`).then(texture),
    fetched(`${name}-vnrm.png`).then(texture),
  ]);
  const { Min, Max, Frames } = remap["os-remap"];
  const uniforms = {
    motion: { value: motion },
    turning: { value: turning },
    low: { value: new THREE.Vector3(...Min) },
    high: { value: new THREE.Vector3(...Max) },
    frame: { value: 0 },
    frames: { value: Frames },
  };
  const meshes = [];
  gltf.scene.traverse((item) => {
    if (item.isMesh) meshes.push(item);
  });
  return new Player(gltf.scene, meshes, uniforms);
}

class Player {
  constructor(scene, meshes, uniforms) {
    this.scene = scene;
    this.meshes = meshes;
    this.uniforms = uniforms;
    this.frames = uniforms.frames.value;
    this.vertices = meshes.reduce((sum, mesh) => sum + mesh.geometry.attributes.position.count, 0);
    this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.setClearColor(0xe8e8ea);
    this.canvas = this.renderer.domElement;
    this.camera = new THREE.PerspectiveCamera(35, 1, 0.01, 1000);
    const material = new THREE.ShaderMaterial({ ...SHOWN, uniforms, side: THREE.DoubleSide });
    for (const mesh of meshes) {
      mesh.material = material;
      mesh.frustumCulled = false; // the bounds are those of the rest mesh
    }
    const box = new THREE.Box3();
    for (let part = 0; part < 8; part++) {
      box.union(new THREE.Box3().setFromArray(this.positionsAt((part * this.frames) / 8)));
    }
    this.middle = box.getCenter(new THREE.Vector3());
    this.distance = 1.5 * box.getSize(new THREE.Vector3()).length();
  }

  draw(frame, width, height) {
    this.uniforms.frame.value = frame % this.frames;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    const aside = new THREE.Vector3(0.45, 0.3, 0.85).normalize();
    this.camera.position.copy(this.middle).addScaledVector(aside, this.distance);
    this.camera.lookAt(this.middle);
    this.renderer.setSize(width, height);
    this.renderer.render(this.scene, this.camera);
  }

  // World positions, with Y upwards, of all vertices at a frame, read back from the shader.
  positionsAt(frame) {
    this.uniforms.frame.value = frame;
    return this.meshes.flatMap((mesh) => Array.from(this.measured(mesh)));
  }

  measured(mesh) {
    const { position, uv1 } = mesh.geometry.attributes;
    const width = 256;
    const height = Math.ceil(position.count / width);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", position);
    geometry.setAttribute("uv1", uv1);
    const numbers = Float32Array.from({ length: position.count }, (_, number) => number);
    geometry.setAttribute("number", new THREE.BufferAttribute(numbers, 1));
    const uniforms = { ...this.uniforms, size: { value: new THREE.Vector2(width, height) } };
    const options = { ...MEASURED, uniforms, depthTest: false, blending: THREE.NoBlending };
    const points = new THREE.Points(geometry, new THREE.ShaderMaterial(options));
    points.frustumCulled = false;
    mesh.updateWorldMatrix(true, false);
    points.matrixAutoUpdate = false;
    points.matrix.copy(mesh.matrixWorld);
    const scene = new THREE.Scene();
    scene.add(points);
    const target = new THREE.WebGLRenderTarget(width, height, {
      type: THREE.FloatType,
      magFilter: THREE.NearestFilter,
      minFilter: THREE.NearestFilter,
    });
    this.renderer.setRenderTarget(target);
    this.renderer.render(scene, this.camera);
    const colors = new Float32Array(4 * width * height);
    this.renderer.readRenderTargetPixels(target, 0, 0, width, height, colors);
    this.renderer.setRenderTarget(null);
    return colors.subarray(0, 4 * position.count).filter((_, place) => place % 4 < 3);
  }
}

async function fetched(path) {
  const found = await fetch(path);
  if (!found.ok) throw new Error(`${path} is missing`);
  return found;
}

// Browsers' own images have 8 bits a channel, so the file is read here.
async function texture(found) {
  const { width, height, values } = await readPng(await found.arrayBuffer());
  const colors = new Float32Array(4 * width * height);
  for (let pixel = 0; pixel < width * height; pixel++) {
    for (let axis = 0; axis < 3; axis++) colors[4 * pixel + axis] = values[3 * pixel + axis] / 65535;
  }
  const made = new THREE.DataTexture(colors, width, height, THREE.RGBAFormat, THREE.FloatType);
  made.needsUpdate = true;
  return made;
}
