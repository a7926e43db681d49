import { type Node, type ParseError, parseTree } from "jsonc-parser";
import { isNestedBeyond, maxDepth, strictly } from "../../registry/json.ts";

/**
 * JSON pointer → line (from 1) of the member or element, or of its nearest ancestor; 1 if the text is not
 * JSON or is nested too deeply. The text is read for the first pointer.
 */
export function linesOf(text: string): (pointer: string) => number {
	let root: Node | null | undefined;
	return (pointer) => {
		root ??= readTree(text);
		let node = root;
		let start = root?.offset;
		for (const segment of pointer.split("/").slice(1)) {
			const name = segment.replaceAll("~1", "/").replaceAll("~0", "~");
			// `pointerOf` cuts long names.
			const isName = ({ children: [key] = [] }: Node) =>
				key?.value === name || (name.endsWith("…") && key?.value.startsWith(name.slice(0, -1)));
			const child = node?.type === "array" ? node.children?.[Number(name)] : node?.children?.find(isName);
			if (!child) break;
			start = child.offset;
			node = child.type === "property" ? (child.children?.[1] ?? null) : child;
		}
		return text.slice(0, start ?? 0).split("\n").length;
	};
}

function readTree(text: string): Node | null {
	const errors: ParseError[] = [];
	const root = isNestedBeyond(text, maxDepth) ? null : parseTree(text, errors, strictly);
	return errors.length === 0 ? (root ?? null) : null;
}
