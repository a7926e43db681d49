import type { Drawing, Renderer } from "./description.ts";
import { escapeMarkup } from "./markup.ts";

/** A drawing of 16 by 16 pixels as a data URI. */
function picture(shapes: string): string {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16">${shapes}</svg>`;
	return `data:image/svg+xml;base64,${btoa(svg)}`;
}

/** A grey dot, for a feature layer that was not harvested yet. */
export const genericImage = picture('<circle cx="8" cy="8" r="5" fill="#888" stroke="#444"/>');

/** Two stacked sheets, for a layer that is drawn as an image: without an icon, the viewer's list shows an empty box. */
export const wmsImage = picture(
	'<path d="M8 5l7 4-7 4-7-4z" fill="#bbb" stroke="#444"/><path d="M8 2l7 4-7 4-7-4z" fill="#ddd" stroke="#444"/>',
);

/**
 * A renderer as the viewer 4.0.x reads it: `simple`, `uniqueValue` or `classBreaks`. The viewer throws on any other type,
 * and needs an `imageUrl` in every entry.
 * @param classValue converts the value of a class to the form that the viewer compares with a feature's value
 */
export function renderSymbology(renderer: Renderer, classValue: ClassValue = (value) => value): object {
	if (renderer.type === "simple") return { type: "simple", ...drawn(renderer) };
	const { default: other } = renderer;
	const defaults = other ? { defaultImageUrl: other.image, label: escapeMarkup(other.label) } : {};
	if (renderer.type === "breaks") {
		const rangeMaps = renderer.classes.map((one) => ({ maxValue: one.max, ...drawn(one) }));
		return { type: "classBreaks", field: renderer.field, minValue: renderer.min, rangeMaps, ...defaults };
	}
	const [field1, field2, field3] = renderer.fields;
	const valueMaps = renderer.classes.map((one) => ({ value: classValue(one.value), ...drawn(one) }));
	return { type: "uniqueValue", field1, field2, field3, valueMaps, ...defaults };
}

function drawn({ image, label }: Drawing): object {
	return { imageUrl: image, label: escapeMarkup(label) };
}

/** Maps the value of a class to its value in the fragment. */
export type ClassValue = (value: string | number) => string | number;

/** The symbology of a layer that was not harvested. */
export const genericSymbology = { type: "simple", imageUrl: genericImage, label: "" };
