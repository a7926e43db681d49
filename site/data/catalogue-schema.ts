import { document, exactly, list } from "../../registry/schemas/definitions.ts";
import { entry } from "./entry.ts";

/** JSON Schema (draft-07) of a chunk of the catalogue's index. */
export const catalogueChunk = document(
	"catalogue-chunk",
	"The entries of some layers, sorted by smallkey",
	exactly({
		version: { description: "A reader ignores a chunk of another version.", const: 4 },
		entries: { ...list(entry), minItems: 1 },
	}),
);
