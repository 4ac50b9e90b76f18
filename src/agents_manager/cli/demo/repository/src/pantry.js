import { List } from "./list.js";

const [command, name, amount] = process.argv.slice(2);
const list = new List();

if (command === "add") {
  list.add(name, Number(amount ?? 1));
}
for (const item of list.items) {
  console.log(`${item.amount} ${item.name}`);
}
