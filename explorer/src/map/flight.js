// Moves the camera smoothly, or at once for readers who prefer reduced motion.

const DURATION = 450; // milliseconds
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

const ease = (t) => (t < 0.5 ? 4 * t ** 3 : 1 - (-2 * t + 2) ** 3 / 2);

export class Flight {
  constructor(camera, onMove) {
    Object.assign(this, { camera, onMove, current: 0 });
  }

  stop() {
    this.current++;
  }

  to(target) {
    const flight = ++this.current;
    const from = this.camera.state;
    const began = performance.now();
    const step = (now) => {
      if (flight !== this.current) return;
      const t = reducedMotion.matches ? 1 : Math.min(1, Math.max(0, now - began) / DURATION);
      const share = ease(t);
      const between = (key) => from[key] + (target[key] - from[key]) * share;
      // Zoom in equal ratios: equal steps would rush at one end.
      this.camera.state = { x: between("x"), y: between("y"), zoom: from.zoom * (target.zoom / from.zoom) ** share };
      this.onMove();
      if (t < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
}
