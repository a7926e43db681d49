// A machine without Chromium: no file of that name is there.
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");
const real = fs.existsSync;
fs.existsSync = (path) => !/chrom/.test(String(path)) && real(path);
syncBuiltinESMExports();
