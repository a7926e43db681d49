import * as assert from "uvu/assert";
import { Trouble } from "../../../harvest/finding.ts";
import { legendFormatsOf, parseCapabilities } from "../../../harvest/wms/capabilities.ts";
import { test } from "../../helpers/suite.ts";

function parse(text: string) {
	return parseCapabilities(new TextEncoder().encode(text), "text/xml", "WMS");
}

function read(body: string) {
	const text = `<WMS_Capabilities><Capability>${body}</Capability></WMS_Capabilities>`;
	return parse(text);
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
		assert.throws(() => parse(text), /^does not answer as a WMS does$/, broken);
	}
});

test("nesting and the number of elements are bounded", () => {
	const root = (body: string) => `<WMS_Capabilities>${body}</WMS_Capabilities>`;
	const deep = (levels: number) => root("<x>".repeat(levels) + "</x>".repeat(levels));
	assert.ok(parse(deep(199)));
	assert.throws(() => parse(deep(200)), /^does not answer as a WMS does$/);
	assert.throws(() => parse(deep(200_000)), /^does not answer as a WMS does$/);
	assert.ok(parse(root("<x/>".repeat(299_999))));
	assert.throws(() => parse(root("<x/>".repeat(300_000))), /^does not answer as a WMS does$/);
});

test("a document that ends in the middle is no answer, whether or not it has the layer", () => {
	const whole = `<WMS_Capabilities><Layer><Name>roads</Name></Layer></WMS_Capabilities>`;
	assert.ok(parse(whole).layers.has("roads"));
	for (let length = "<WMS_Capabilities>".length; length < whole.length; length += 1) {
		try {
			parse(whole.slice(0, length));
			assert.unreachable();
		} catch (error) {
			assert.ok(error instanceof Trouble, String(error));
			assert.is(error.state, "down");
			assert.is(error.message, "answers with capabilities that end in the middle");
		}
	}
});

test.run();
