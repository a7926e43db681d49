import { SaxesParser } from "saxes";
import * as assert from "uvu/assert";
import { genericImageOf, pictureImage, symbolImage } from "../../../harvest/arcgis/symbol.ts";
import { test } from "../../helpers/suite.ts";

/** The drawing behind a data URI; fails where it is not well-formed XML with a size. */
function drawing(uri: string | null): string {
	const match = /^data:image\/svg\+xml;base64,(.*)$/.exec(uri ?? "");
	assert.ok(match, `is no drawing: ${uri}`);
	const svg = Buffer.from(match?.[1] ?? "", "base64").toString();
	const parser = new SaxesParser({ xmlns: true });
	parser.write(svg).close();
	assert.match(svg, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="\d+" height="\d+">/);
	assert.not.match(svg, /NaN|undefined|null|Infinity/);
	return svg;
}

const red = [255, 0, 0, 255];

test("a marker has its shape, size, colours and outline", () => {
	const outline = { type: "esriSLS", style: "esriSLSSolid", color: [0, 0, 255, 255], width: 0.75 };
	const symbol = { type: "esriSMS", style: "esriSMSCircle", color: [255, 0, 0, 64], size: 9, outline };
	assert.is(
		drawing(symbolImage(symbol)),
		'<svg xmlns="http://www.w3.org/2000/svg" width="15" height="15"><circle cx="7.5" cy="7.5" r="6" fill="rgb(255,0,0)" fill-opacity="0.25" stroke="rgb(0,0,255)" stroke-width="1"/></svg>',
	);
	const shapes = ["Square", "Diamond", "Triangle", "Cross", "X"].map((name) =>
		drawing(symbolImage({ ...symbol, style: `esriSMS${name}` })),
	);
	assert.is(new Set(shapes).size, 5);
});

test("a line has its colour, width and dashes", () => {
	const line = (style: string) => drawing(symbolImage({ type: "esriSLS", style, color: red, width: 1.5 }));
	assert.match(line("esriSLSSolid"), 'd="M1 10H19" fill="none" stroke="rgb(255,0,0)" stroke-width="2"/>');
	assert.match(line("esriSLSDash"), 'stroke-dasharray="8 6"');
	assert.match(line("esriSLSDot"), 'stroke-dasharray="2 6"');
	assert.match(line("esriSLSNull"), 'stroke="none"');
});

test("an area has its fill, hatching and outline", () => {
	const outline = { type: "esriSLS", style: "esriSLSSolid", color: [1, 2, 3, 255], width: 1 };
	const area = (style: string) => drawing(symbolImage({ type: "esriSFS", style, color: red, outline }));
	assert.match(area("esriSFSSolid"), 'fill="rgb(255,0,0)" stroke="rgb(1,2,3)"');
	assert.match(area("esriSFSNull"), 'fill="none" stroke="rgb(1,2,3)"');
	const hatches = ["Horizontal", "Vertical", "Cross", "ForwardDiagonal", "BackwardDiagonal", "DiagonalCross"];
	const drawings = hatches.map((name) => area(`esriSFS${name}`));
	assert.is(new Set(drawings).size, hatches.length);
	for (const one of drawings) assert.match(one, 'stroke="rgb(255,0,0)"');
});

test("whatever a symbol holds, the drawing is whole", () => {
	for (const type of ["esriSMS", "esriSLS", "esriSFS"]) {
		for (const odd of [null, "9", -5, 1e300, {}, [], '"/><script>', Number.NaN, { toString: 1 }]) {
			const symbol = { type, style: odd, color: [odd, odd, odd, odd], size: odd, width: odd, outline: odd };
			assert.not.match(drawing(symbolImage(symbol)), "script");
			assert.ok(drawing(symbolImage({ ...symbol, color: odd, outline: symbol })).length < 600);
		}
	}
	for (const other of [
		null,
		"x",
		[],
		{},
		{ type: "CIMSymbolReference" },
		{ type: "esriTS" },
		{ type: "__proto__" },
	]) {
		assert.is(symbolImage(other), null);
	}
});

test("a picture is taken with a known type and valid base64 only", () => {
	assert.is(pictureImage("image/png", "AAAA"), "data:image/png;base64,AAAA");
	assert.is(pictureImage("image/jpg", "AAAAAAA="), "data:image/jpeg;base64,AAAAAAA=");
	for (const [type, data] of [
		["image/svg+xml", "AAAA"],
		["text/html", "AAAA"],
		["image/png; x", "AAAA"],
		["image/png", "AAA"],
		["image/png", "A==="],
		["image/png", "AA\nAA"],
		["image/png", ""],
		["image/png", "A".repeat(200_000)],
		[null, "AAAA"],
		["image/png", null],
	]) {
		assert.is(pictureImage(type, data), null, `${type} ${String(data).slice(0, 10)}`);
	}
});

test("a layer whose symbol is not known is an area, a line or a dot", () => {
	const known = ["esriGeometryPolygon", "esriGeometryPolyline", "esriGeometryPoint"].map(genericImageOf);
	assert.is(new Set(known.map(drawing)).size, 3);
	assert.is(genericImageOf(""), genericImageOf("esriGeometryPoint"));
});

test.run();
