import type { IncomingMessage, ServerResponse } from "node:http";
import { encode } from "fast-png";
import type { Peer, Route } from "../extensions/harvest/peer.ts";

export type Colour = readonly [number, number, number];

export const red: Colour = [200, 0, 0];
export const blue: Colour = [0, 0, 200];
export const green: Colour = [0, 150, 0];

export function symbolImage(fill: Colour, edge: Colour = fill, side = 20) {
	const data = new Uint8Array(side * side * 4);
	for (let index = 0; index < side * side; index += 1) {
		const [x, y] = [index % side, Math.floor(index / side)];
		const isEdge = x < 2 || y < 2 || x >= side - 2 || y >= side - 2;
		data.set([...(isEdge ? edge : fill), 255], index * 4);
	}
	return `data:image/png;base64,${Buffer.from(encode({ width: side, height: side, data, channels: 4 })).toString("base64")}`;
}

type Box = [number, number, number, number];

const allowAll = { "Access-Control-Allow-Origin": "*" };

function queryOf(request: IncomingMessage) {
	const { searchParams } = new URL(request.url ?? "/", "http://host");
	return new URLSearchParams([...searchParams].map(([name, value]) => [name.toLowerCase(), value]));
}

function send(response: ServerResponse, type: string, body: string | Uint8Array, status = 200) {
	response.writeHead(status, { ...allowAll, "Content-Type": type }).end(body);
}

export function sendJson(value: unknown): Route {
	return (_request, response) => send(response, "application/json", JSON.stringify(value));
}

export function sendText(text: string, type: string, status = 200): Route {
	return (_request, response) => send(response, type, text, status);
}

interface WmsAnswers {
	/** The colour at a place of the map; null: transparent. */
	colourOf?: (x: number, y: number) => Colour | null;
	/** An exception report instead of every picture, or of those in another reference. */
	onlyReference?: string;
	exception?: string;
}

/** Paints by the coordinates of the map: a test sees whether pictures lie right. */
export function serveWms(peer: Peer, path: string, answers: WmsAnswers = {}) {
	const { colourOf = (x: number) => (x < 0 ? red : blue), exception, onlyReference } = answers;
	const report = (text: string) =>
		`<?xml version="1.0"?><ServiceExceptionReport version="1.3.0"><ServiceException code="x"><![CDATA[${text}]]></ServiceException></ServiceExceptionReport>`;
	peer.on(path, (request, response) => {
		const query = queryOf(request);
		if (exception !== undefined) return send(response, "text/xml", report(exception));
		const operation = query.get("request");
		if (operation === "GetCapabilities" && onlyReference !== undefined)
			return send(
				response,
				"text/xml",
				`<WMS_Capabilities version="1.3.0"><Capability><Layer><CRS>${onlyReference}</CRS><Layer><Name>l</Name></Layer></Layer></Capability></WMS_Capabilities>`,
			);
		const reference = query.get("crs") ?? query.get("srs") ?? "";
		if (operation === "GetMap" && onlyReference !== undefined && reference !== onlyReference) {
			return send(response, "text/xml", report(`InvalidCRS: ${reference} is not known`));
		}
		const [width, height] = [Number(query.get("width") ?? 20), Number(query.get("height") ?? 20)];
		const box = (query.get("bbox") ?? "0,0,1,1").split(",").map(Number) as Box;
		send(response, "image/png", paint(box, width, height, colourOf));
	});
}

function paint(
	[xmin, ymin, xmax, ymax]: Box,
	width: number,
	height: number,
	colourOf: (x: number, y: number) => Colour | null,
): Uint8Array {
	const data = new Uint8Array(width * height * 4);
	for (let index = 0; index < width * height; index += 1) {
		const x = xmin + ((index % width) + 0.5) * ((xmax - xmin) / width);
		const y = ymax - (Math.floor(index / width) + 0.5) * ((ymax - ymin) / height);
		const colour = colourOf(x, y);
		if (colour) data.set([...colour, 255], index * 4);
	}
	return encode({ width, height, data, channels: 4 });
}

export function serveFeatures(
	peer: Peer,
	path: string,
	features: { attributes: object; geometry: object }[],
) {
	peer.on(`${path}/query`, sendJson({ features }));
}

export function serveExport(peer: Peer, path: string, colour: Colour) {
	peer.on(`${path}/export`, (request, response) => {
		const query = queryOf(request);
		const [width = 1, height = 1] = (query.get("size") ?? "1,1").split(",").map(Number);
		send(
			response,
			"image/png",
			paint([0, 0, 1, 1], width, height, () => colour),
		);
	});
}
