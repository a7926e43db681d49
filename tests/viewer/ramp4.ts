// biome-ignore lint/suspicious/noExplicitAny: viewers read members without checking them
type Json = any;

const types = ["esri-feature", "esri-imagery", "esri-map-image", "esri-tile", "ogc-wms"];

/**
 * Reads items of its configuration's `layers` as RAMP4 4.20.0 does.
 * @returns the names or numbers of each layer's sublayers
 * @throws {Error} where RAMP4 fails
 */
export function readAsRamp4(items: Json[]): (string | number)[][] {
	return items.map(({ layerType, sublayers = [] }) => {
		if (!types.includes(layerType)) throw new Error(`RAMP4 knows no layers of type ${layerType}`);
		if (layerType !== "ogc-wms" && layerType !== "esri-map-image") return [];
		// It reads them before it requests the service.
		if (sublayers.length === 0) throw new Error("RAMP4 makes no layer without sublayers");
		return sublayers.map((sublayer: { id: string; index: number }) => sublayer.id ?? sublayer.index);
	});
}
