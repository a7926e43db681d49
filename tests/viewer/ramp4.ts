const types = ["esri-feature", "esri-imagery", "esri-map-image", "esri-tile", "ogc-wms"];

/** The sublayers of what RAMP4 makes of items of its configuration's `layers`. @throws {Error} where it would fail */
// biome-ignore lint/suspicious/noExplicitAny: it reads whatever it gets
export function readAsRamp4(items: any[]): (string | number)[][] {
	return items.map(({ layerType, sublayers = [] }) => {
		if (!types.includes(layerType)) throw new Error(`RAMP4 knows no layers of type ${layerType}`);
		if (layerType !== "ogc-wms" && layerType !== "esri-map-image") return [];
		// It goes through them before it asks the service.
		if (sublayers.length === 0) throw new Error("RAMP4 makes no layer of no sublayers");
		return sublayers.map((sublayer: { id: string; index: number }) => sublayer.id ?? sublayer.index);
	});
}
