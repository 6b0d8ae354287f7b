#!/usr/bin/env node
// The executable: refuses a Node that cannot run the rest, then loads the built command line. Old syntax on purpose.
const wanted = [20, 19];
const running = process.versions.node.split(".").map(Number);

if (running[0] < wanted[0] || (running[0] === wanted[0] && running[1] < wanted[1])) {
  console.error(`agent-server needs Node ${wanted.join(".")} or newer; this is Node ${process.versions.node}.`);
  process.exit(2);
}

const { main } = await import("../dist/cli/main.js");
await main();
