import { answerAsMapService } from "../../../screenshots/map-service.ts";

const open = { "Access-Control-Allow-Origin": "*" };

/** A network with map services that draw any layer: pictures of hills, and features in a grid. */
export function drawingNetwork(exceptions: Readonly<Record<string, () => Response>> = {}): typeof fetch {
	return async (input) => {
		const address = new URL(String(input instanceof Request ? input.url : input));
		const exception = exceptions[address.host];
		if (exception) return exception();
		if (/\/\d+\/query$/.test(address.pathname))
			return Response.json({ features: gridIn(address) }, { headers: open });
		const { status, contentType, body } = answerAsMapService(address);
		return new Response(new Uint8Array(body), { status, headers: { ...open, "Content-Type": contentType } });
	};
}

/** Points in the rectangle that is asked for, nine in a row. */
function gridIn({ searchParams }: URL): object[] {
	const [xmin = 0, ymin = 0, xmax = 0, ymax = 0] = (searchParams.get("geometry") ?? "")
		.split(",")
		.map(Number);
	return Array.from({ length: 81 }, (_, at) => {
		const [x, y] = [((at % 9) + 0.5) / 9, (Math.floor(at / 9) + 0.5) / 9];
		const geometry = { x: xmin + x * (xmax - xmin), y: ymin + y * (ymax - ymin) };
		return { attributes: { OBJECTID: at }, geometry };
	});
}
