import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { root } from "../process.ts";
import { withFigures } from "./figures.mjs";

test("the page of one machine gets the versions and counts of a run, and keeps all else", async () => {
	const page = await readFile(join(root, "docs/one-machine.md"), "utf8");
	const [one, other] = ["figure: b: Caddy 2.6.2", "figure: a: Debian 12.15, systemd 252"];
	const written = withFigures(page, [one, other], 41);
	assert.match(
		written,
		"\n\n- 41 scenes passed\n- a: Debian 12.15, systemd 252\n- b: Caddy 2.6.2\n\n<!-- end",
	);
	assert.is(withFigures(written, [other, one], 41), written);
	const outside = (text: string) => text.split(/<!-- .* -->\n/).filter((_, index) => index % 2 === 0);
	assert.equal(outside(written), outside(page));
	assert.throws(() => withFigures("# A page\n", [one], 1), "has no place");
});

test.run();
