// Draws the points with WebGL 2. Colours are looked up per cluster in a small texture, so that a change of
// colours does not touch the points.

const TEXTURE_WIDTH = 256;

const VERTEX = `#version 300 es
in vec2 position;
in uint label;
uniform vec2 centre;
uniform vec2 stretch;
uniform float size;
uniform float opacity;
uniform vec3 paint;      // used instead of the colour of the cluster if paint.r >= 0
uniform bool emphasised; // ignores that other clusters are in front
uniform sampler2D palette;
out vec4 colour;
void main() {
  gl_Position = vec4((position - centre) * stretch, 0.0, 1.0);
  gl_PointSize = size;
  vec4 own = texelFetch(palette, ivec2(int(label) % ${TEXTURE_WIDTH}, int(label) / ${TEXTURE_WIDTH}), 0);
  colour = paint.r >= 0.0 ? vec4(paint, opacity) : vec4(own.rgb, emphasised ? opacity : own.a * opacity);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 colour;
uniform float size;
out vec4 result;
void main() {
  float radius = length(gl_PointCoord - 0.5) * size;
  float alpha = colour.a * (1.0 - smoothstep(size * 0.5 - 1.0, size * 0.5, radius));
  result = vec4(colour.rgb * alpha, alpha);
}`;

function compile(gl) {
  const program = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.bindAttribLocation(program, 0, "position");
  gl.bindAttribLocation(program, 1, "label");
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) || "no WebGL program");
  return program;
}

function buffer(gl, target, data) {
  const created = gl.createBuffer();
  gl.bindBuffer(target, created);
  gl.bufferData(target, data, gl.STATIC_DRAW);
  return created;
}

function interleave({ x, y, count }) {
  const positions = new Uint16Array(2 * count);
  for (let i = 0; i < count; i++) {
    positions[2 * i] = x[i];
    positions[2 * i + 1] = y[i];
  }
  return positions;
}

export class WebglRenderer {
  kind = "webgl";

  /** Throws if the browser has no WebGL 2. `onLost` is called if it goes away later. */
  constructor(canvas, points, onLost) {
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true });
    if (!gl) throw new Error("no WebGL 2");
    Object.assign(this, { canvas, gl, points });
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      onLost();
    });
    this.program = compile(gl);
    this.uniforms = Object.fromEntries(
      ["centre", "stretch", "size", "opacity", "paint", "emphasised", "palette"].map((name) => [name, gl.getUniformLocation(this.program, name)]),
    );
    this.#upload();
    this.lists = new Map();
  }

  #upload() {
    const { gl, points } = this;
    this.vertices = gl.createVertexArray();
    gl.bindVertexArray(this.vertices);
    buffer(gl, gl.ARRAY_BUFFER, interleave(points));
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.UNSIGNED_SHORT, true, 0, 0);
    buffer(gl, gl.ARRAY_BUFFER, points.label);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribIPointer(1, 1, { 1: gl.UNSIGNED_BYTE, 2: gl.UNSIGNED_SHORT, 4: gl.UNSIGNED_INT }[points.label.BYTES_PER_ELEMENT], 0, 0);
    this.texture = gl.createTexture();
  }

  /** Set the colour of each cluster: RGBA bytes; the alpha is the emphasis of the cluster. */
  setColours(rgba) {
    const { gl } = this;
    const height = Math.max(1, Math.ceil(rgba.length / 4 / TEXTURE_WIDTH));
    const padded = new Uint8Array(height * TEXTURE_WIDTH * 4);
    padded.set(rgba);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, TEXTURE_WIDTH, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, padded);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  }

  /** Set a list of points that is drawn on top of the others. */
  setList(name, points) {
    const { gl } = this;
    gl.bindVertexArray(null);
    if (this.lists.has(name)) gl.deleteBuffer(this.lists.get(name).elements);
    this.lists.delete(name);
    if (points.length) this.lists.set(name, { elements: buffer(gl, gl.ELEMENT_ARRAY_BUFFER, points), count: points.length });
  }

  /** Draw the first `count` points, then the lists: [{name, size, opacity, paint}]. */
  draw(camera, { count, size, opacity, ratio, lists }) {
    const { gl, uniforms } = this;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.useProgram(this.program);
    gl.bindVertexArray(this.vertices);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.uniform1i(uniforms.palette, 0);
    gl.uniform2f(uniforms.centre, camera.x, camera.y);
    gl.uniform2f(uniforms.stretch, (2 * camera.scale) / camera.width, (2 * camera.scale) / camera.height);
    this.#style({ size: size * ratio, opacity, paint: null, emphasised: false });
    gl.drawArrays(gl.POINTS, 0, count);
    for (const { name, ...style } of lists) {
      const list = this.lists.get(name);
      if (!list) continue;
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, list.elements);
      this.#style({ ...style, size: style.size * ratio, emphasised: true });
      gl.drawElements(gl.POINTS, list.count, gl.UNSIGNED_INT, 0);
    }
  }

  #style({ size, opacity, paint, emphasised }) {
    const { gl, uniforms } = this;
    gl.uniform1f(uniforms.size, size);
    gl.uniform1f(uniforms.opacity, opacity);
    gl.uniform1i(uniforms.emphasised, emphasised ? 1 : 0);
    gl.uniform3f(uniforms.paint, ...(paint ? paint.map((value) => value / 255) : [-1, -1, -1]));
  }
}
