// A machine without Chromium: no file of that name is there.
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");
const real = fs.accessSync;
fs.accessSync = (path, ...rest) => {
	if (/chrom/.test(String(path))) throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
	return real(path, ...rest);
};
syncBuiltinESMExports();
