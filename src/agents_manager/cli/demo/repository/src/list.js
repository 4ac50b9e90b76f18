export class List {
  constructor(items = []) {
    this.items = items;
  }

  add(name, amount = 1) {
    const known = this.items.find((item) => item.name === name);
    if (known) {
      known.amount += amount;
    } else {
      this.items.push({ name, amount });
    }
    return this;
  }

  names() {
    return this.items.map((item) => item.name);
  }
}
