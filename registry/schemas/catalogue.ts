import { entry } from "../../site/data/entry.ts";
import { document, exactly, list } from "./definitions.ts";

/** JSON Schema (draft-07) of a chunk of the catalogue's index. */
export const catalogueChunk = document(
	"catalogue-chunk",
	"The entries of some layers, sorted by smallkey",
	exactly({
		version: { description: "A reader ignores a chunk of another version.", const: 4 },
		entries: { ...list(entry), minItems: 1 },
	}),
);
