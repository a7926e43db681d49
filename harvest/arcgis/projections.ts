const nad83 = "+ellps=GRS80 +towgs84=0,0,0 +no_defs";
const wgs84 = "+datum=WGS84 +no_defs";
const metres = "+units=m";

const degreesNad83 = `+proj=longlat ${nad83}`;
const webMercator = `+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 ${metres} +nadgrids=@null +no_defs`;
const canadaAtlas = `+proj=lcc +lat_1=49 +lat_2=77 +lat_0=49 +lon_0=-95 +x_0=0 +y_0=0 ${metres} ${nad83}`;
const statisticsCanada = `+proj=lcc +lat_1=49 +lat_2=77 +lat_0=63.390675 +lon_0=-91.8666666666667 +x_0=6200000 +y_0=3000000 ${metres} ${nad83}`;
const ontario = `+proj=lcc +lat_1=44.5 +lat_2=53.5 +lat_0=0 +lon_0=-85 +x_0=930000 +y_0=6430000 ${metres} ${nad83}`;
const britishColumbia = `+proj=aea +lat_1=50 +lat_2=58.5 +lat_0=45 +lon_0=-126 +x_0=1000000 +y_0=0 ${metres} ${nad83}`;
const alberta = `+proj=tmerc +lat_0=0 +lon_0=-115 +k=0.9992 +y_0=0 ${metres} ${nad83}`;

/** What proj4 has to know of a spatial reference, by well-known id (EPSG registry; Esri's own above 100,000). */
const definitions = new Map<number, string>([
	[4326, `+proj=longlat ${wgs84}`],
	[4269, degreesNad83],
	[4617, degreesNad83],
	[3857, webMercator],
	[102100, webMercator],
	[102113, webMercator],
	[900913, webMercator],
	[3978, canadaAtlas],
	[3979, canadaAtlas],
	[3347, statisticsCanada],
	[3348, statisticsCanada],
	[3161, ontario],
	[3162, ontario],
	[3005, britishColumbia],
	[3153, britishColumbia],
	[3400, `${alberta} +x_0=500000`],
	[3401, `${alberta} +x_0=0`],
	[32198, `+proj=lcc +lat_1=60 +lat_2=46 +lat_0=44 +lon_0=-68.5 +x_0=0 +y_0=0 ${metres} ${nad83}`],
	[5070, `+proj=aea +lat_1=29.5 +lat_2=45.5 +lat_0=23 +lon_0=-96 +x_0=0 +y_0=0 ${metres} ${nad83}`],
	[102001, `+proj=aea +lat_1=50 +lat_2=70 +lat_0=40 +lon_0=-96 +x_0=0 +y_0=0 ${metres} ${nad83}`],
	[102002, `+proj=lcc +lat_1=50 +lat_2=70 +lat_0=40 +lon_0=-96 +x_0=0 +y_0=0 ${metres} ${nad83}`],
]);

for (let zone = 7; zone <= 22; zone += 1) {
	definitions.set(26900 + zone, `+proj=utm +zone=${zone} ${metres} ${nad83}`);
	definitions.set(32600 + zone, `+proj=utm +zone=${zone} ${metres} ${wgs84}`);
}

/** The definition of a spatial reference for proj4; null where it is not known here. */
export function projectionOf(wkid: number): string | null {
	return definitions.get(wkid) ?? null;
}

/** Whether coordinates in a spatial reference are longitude and latitude in degrees. */
export function isGeographic(wkid: number): boolean {
	return projectionOf(wkid)?.includes("+proj=longlat") ?? false;
}
