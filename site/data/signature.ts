import { SaxesParser } from "saxes";
import type { Signature } from "../static/html.ts";

/**
 * Parses the signature of an operator.
 * @param svg an SVG with a `viewBox` and a `<title>`
 * @returns its text alternative and its shape; null for any other text
 */
export function parseSignature(svg: string): Omit<Signature, "path"> | null {
	let title = "";
	let box: number[] = [];
	const path: string[] = [];
	const parser = new SaxesParser();
	let isBroken = false;
	parser.on("error", () => {
		isBroken = true;
	});
	parser.on("opentag", ({ name, attributes }) => {
		path.push(name);
		if (path.join() === "svg")
			box = (attributes.viewBox ?? "")
				.trim()
				.split(/[\s,]+/)
				.map(Number);
	});
	parser.on("text", (text) => {
		if (path.join() === "svg,title") title += text;
	});
	parser.on("closetag", () => path.pop());
	parser.write(svg).close();
	const [, , width = 0, height = 0] = box;
	const text = title.replace(/\s+/g, " ").trim();
	return !isBroken && text !== "" && width > 0 && height > 0 ? { title: text, width, height } : null;
}
