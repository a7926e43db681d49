function svgDataUrl(shapes: string): string {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16">${shapes}</svg>`;
	return `data:image/svg+xml;base64,${btoa(svg)}`;
}

/** Without an icon, the viewer's list shows an empty box. */
export const wmsImage = svgDataUrl(
	'<path d="M8 5l7 4-7 4-7-4z" fill="#bbb" stroke="#444"/><path d="M8 2l7 4-7 4-7-4z" fill="#ddd" stroke="#444"/>',
);

/** The catalogue's page compares it without loading the targets. */
export const genericImage = svgDataUrl('<circle cx="8" cy="8" r="5" fill="#888" stroke="#444"/>');
