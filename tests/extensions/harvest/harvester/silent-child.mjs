// A process that starts, and never says that it is ready. By itself it ends late, so that a test fails and does not hang.
process.on("disconnect", () => process.exit());
setTimeout(() => process.exit(7), 30_000);
