import { layerDocument } from "../harvest/arcgis-server.ts";
import { json, type Peer, type Route } from "../harvest/peer.ts";

export const oddService = "/arcgis/rest/services/Odd/MapServer";

const cors =
	(value: unknown): Route =>
	(_request, response) => {
		response.writeHead(200, { "Content-Type": "application/json", "Access-Control-Allow-Origin": "*" });
		response.end(JSON.stringify(value));
	};

/** Serves a service with one layer, which pages may read, too. @param ids its number; several: as many layers that are alike */
export function serveOdd(peer: Peer, ...ids: number[]): void {
	peer.routes.clear();
	peer.on(oddService, json({ layers: ids.map((id) => ({ id, name: "Stations", parentLayerId: -1 })) }));
	for (const id of ids) serveOne(peer, id);
}

function serveOne(peer: Peer, id: number): void {
	peer.on(`${oddService}/${id}`, json(layerDocument({ id, minScale: 0 })));
	peer.on(`${oddService}/legend`, json({ layers: [] }));
	peer.on(`${oddService}/${id}/query`, (request, response) => {
		const isCount = request.url?.includes("returnCountOnly");
		const geometry = { x: 0, y: 500_000 };
		const value = isCount ? { count: 1 } : { features: [{ attributes: { OBJECTID: 1 }, geometry }] };
		cors(value)(request, response);
	});
}
