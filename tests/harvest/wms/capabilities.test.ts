import { test } from "uvu";
import * as assert from "uvu/assert";
import { legendFormatsOf, parseCapabilities } from "../../../harvest/wms/capabilities.ts";

function read(body: string) {
	const text = `<WMS_Capabilities><Capability>${body}</Capability></WMS_Capabilities>`;
	const { capabilities } = parseCapabilities(new TextEncoder().encode(text), "text/xml");
	assert.ok(capabilities, "is read");
	return capabilities;
}

const style = (format: string) => `<Style><LegendURL><Format>${format}</Format></LegendURL></Style>`;

test("a layer has its own legends and its parents', each type once", () => {
	const { layers } = read(
		`<Layer><Name>all</Name>${style("image/gif")}<Layer><Name>roads</Name>${style("image/png")}${style("image/png")}</Layer></Layer>`,
	);
	const of = (name: string) => {
		const layer = layers.get(name);
		return layer && legendFormatsOf(layer);
	};
	assert.equal(of("all"), ["image/gif"]);
	assert.equal(of("roads"), ["image/png", "image/gif"]);
});

test("80,000 layers below 20,000 styles: what is inherited is not copied, and the types of a list are bounded", () => {
	const styles = Array.from({ length: 20_000 }, (_, index) => style(`image/x-${index}`)).join("");
	const layers = Array.from({ length: 80_000 }, (_, index) => `<Layer><Name>n${index}</Name></Layer>`).join(
		"",
	);
	const capabilities = read(`<Layer>${styles}${layers}</Layer>`);
	assert.is(capabilities.layers.size, 80_000);
	const last = capabilities.layers.get("n79999");
	assert.is(last && legendFormatsOf(last).length, 100);
});

test("local names count, whatever the prefix, and whether or not it is declared", () => {
	const { layers } = read('<wms:Layer queryable="1"><wms:Name>roads</wms:Name></wms:Layer>');
	assert.is(layers.get("roads")?.queryable, true);
});

test("a document with a few errors is read, one of errors only is given up", () => {
	const { layers } = read(`<Layer><Name>roads</Name><Title>a&nbsp;b</Title></Layer>${"&nbsp;".repeat(500)}`);
	assert.is(layers.get("roads")?.title, "a&nbsp;b");
	for (const broken of ["&x;", "]]>", "<", "\u0001", "</x>"]) {
		const text = `<WMS_Capabilities>${broken.repeat(4_000_000 / broken.length)}`;
		const answer = parseCapabilities(new TextEncoder().encode(text), "text/xml");
		assert.equal(answer, { capabilities: null, exception: null }, broken);
	}
});

test.run();
