// Never says that it is ready. It ends late by itself, so that a test fails and does not hang.
process.on("disconnect", () => process.exit());
setTimeout(() => process.exit(7), 30_000);
