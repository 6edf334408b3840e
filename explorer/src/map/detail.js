// How many points are drawn while the map moves: fewer if frames take long. At rest, all points are drawn.

const SLOW = 40; // milliseconds per frame
const FAST = 24;
const MIN_POINTS = 20000;
const FIRST_POINTS = 200000; // before the speed of the machine is known
const REST = 160; // milliseconds without movement

export class Detail {
  constructor(total, drawAgain) {
    Object.assign(this, { total, drawAgain, budget: Math.min(total, FIRST_POINTS), last: 0, timer: 0 });
  }

  /** Note that the map moved. */
  moved() {
    clearTimeout(this.timer);
    this.moving = true;
    this.timer = setTimeout(() => {
      this.moving = false;
      this.last = 0;
      this.drawAgain();
    }, REST);
  }

  /** Return how many points the frame at `time` draws. */
  count(time) {
    if (!this.moving) return this.total;
    if (this.last) {
      const elapsed = time - this.last;
      if (elapsed > SLOW) this.budget = Math.max(Math.min(MIN_POINTS, this.total), Math.floor(this.budget * 0.6));
      else if (elapsed < FAST) this.budget = Math.min(this.total, Math.ceil(this.budget * 1.2));
    }
    this.last = time;
    return this.budget;
  }
}
