import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { root } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import { temporaryFolder } from "../helpers/world.ts";

const nginx = "/usr/sbin/nginx";
const readPage = (name: string) => readFile(join(root, "docs", name), "utf8");

if (!existsSync(nginx)) console.log(`skipped: ${nginx} is not installed`);
else
	test("nginx accepts the lines for TLS with a certificate at their place", async () => {
		await using folder = await temporaryFolder();
		const { path } = folder;
		const lines = (await readPage("trust.md")).match(/^ {4}(?:listen|server_name|ssl_).*;$/gm) ?? [];
		assert.is(lines.length, 6);
		const names = ["-keyout", join(path, "privkey.pem"), "-out", join(path, "fullchain.pem")];
		const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
		execFileSync("openssl", [...words, "-subj", "/CN=fragments.example", ...names], { stdio: "ignore" });
		const server = lines.join("\n").replaceAll("/etc/letsencrypt/live/fragments.example", path);
		const files = `pid ${path}/pid; error_log stderr;`;
		await writeFile(join(path, "conf"), `${files} events {} http { access_log off; server { ${server} } }`);
		execFileSync(nginx, ["-t", "-q", "-p", path, "-c", join(path, "conf")], { stdio: "pipe" });
	});

test("both languages have the same sections and items", async () => {
	const shapeOf = (text: string) => text.split("\n").filter((line) => /^(?:##|- )/.test(line)).length;
	assert.is(shapeOf(await readPage("trust.md")), shapeOf(await readPage("fr/trust.md")));
});

test.run();
