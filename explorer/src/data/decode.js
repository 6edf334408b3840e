// Decodes packed arrays: base64 of raw-deflated little-endian values.

const TYPES = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, float32: Float32Array };

export class PageError extends Error {}

export function isBrowserSupported() {
  try {
    new DecompressionStream("deflate-raw");
    return new Uint8Array(new Uint16Array([1]).buffer)[0] === 1; // the arrays are little-endian
  } catch {
    return false;
  }
}

function bytesFromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

/** Return the typed array of one packed array. `name` is used in error messages. */
export async function unpack(packed, name) {
  const Type = TYPES[packed?.dtype];
  if (!Type || typeof packed.data !== "string") throw new PageError(`The array "${name}" is missing or has an unknown type.`);
  let buffer;
  try {
    buffer = await inflate(bytesFromBase64(packed.data));
  } catch {
    throw new PageError(`The array "${name}" is damaged and cannot be decompressed.`);
  }
  if (buffer.byteLength !== packed.length * Type.BYTES_PER_ELEMENT) {
    throw new PageError(`The array "${name}" should have ${packed.length} values, but it has another length.`);
  }
  return new Type(buffer);
}
