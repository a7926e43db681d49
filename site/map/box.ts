/** A rectangle in the map's spatial reference: xmin, ymin, xmax, ymax. */
export type Box = [number, number, number, number];

/** What the picture of the land's outline shows, in metres of EPSG:3978. */
export const landExtent: Box = [-6_000_000, -3_600_000, 6_000_000, 6_000_000];
