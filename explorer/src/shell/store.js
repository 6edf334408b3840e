// The state of the page. Parts of the page subscribe to the keys that they show.

export class Store {
  #listeners = [];

  constructor(initial) {
    this.state = initial;
  }

  /** Call `listener(state)` after one of the keys changed. */
  on(keys, listener) {
    this.#listeners.push({ keys, listener });
  }

  update(changes) {
    const changed = Object.keys(changes).filter((key) => this.state[key] !== changes[key]);
    if (!changed.length) return;
    this.state = { ...this.state, ...changes };
    for (const { keys, listener } of this.#listeners) {
      if (keys.some((key) => changed.includes(key))) listener(this.state);
    }
  }
}
