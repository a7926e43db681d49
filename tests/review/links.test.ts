import * as assert from "uvu/assert";
import { linked, linksInto, safeAddress } from "../../review/comment.ts";
import { test } from "../helpers/suite.ts";

test("only an address of the web without credentials is a link, and none of it means anything to Markdown", () => {
	for (const address of [
		"javascript:alert(1)",
		"data:text/html,x",
		"//maps.example",
		"https://someone:secret@maps.example/",
		"https://someone@maps.example/",
		"https://",
		`https://maps.example/${"x".repeat(3_000)}`,
	])
		assert.is(safeAddress(address), null, address);
	const address = safeAddress("https://maps.example/a b(c)[d]<e>`f`|g*h~i\\\\j'k\"l!m?q=é@x#y") ?? "";
	assert.match(address, /^https:\/\/maps\.example\/[A-Za-z0-9./:?#=&%+,;_-]+$/);
	assert.is(safeAddress("HTTPS://Maps.Example/wms?map=1&x=%20"), "https://maps.example/wms?map=1&x=%20");
});

test("a file leads to its line at the head, an owner to a team's page or an account's", () => {
	const links = linksInto("https://github.example", "maps/layers", "c0ffee");
	assert.is(
		links.file("layers/a(b/x y].json", 7),
		"https://github.example/maps/layers/blob/c0ffee/layers/a%28b/x%20y%5D.json#L7",
	);
	assert.is(links.owner("@maps/energy"), "https://github.example/orgs/maps/teams/energy");
	assert.is(links.owner("@ada"), "https://github.example/ada");
	assert.is(links.owner("nobody"), null);
	assert.is(links.file("layers/\ud800.json", 1)?.includes("%EF%BF%BD"), true, "a lone surrogate");
	assert.is(linked("a]", null), "<code>a&#93;</code>");
});

test.run();
