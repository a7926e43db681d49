import { fold, stem } from "../search/words.ts";
import { h } from "./dom.ts";

/** A text with the words marked that a search found, and places where long words may break. @param words stemmed */
export function marked(text: string, words: ReadonlySet<string>): DocumentFragment {
	const fragment = document.createDocumentFragment();
	for (const part of text.split(/([\p{L}\p{N}\p{M}]+)/u)) {
		if (part === "") continue;
		const isWord = /^[\p{L}\p{N}]/u.test(part);
		if (isWord && words.has(stem(fold(part).slice(0, 32)))) fragment.append(h("mark", {}, part));
		else fragment.append(part);
		if (/[/_.\-?&=,]$/.test(part)) fragment.append(document.createElement("wbr"));
	}
	return fragment;
}
