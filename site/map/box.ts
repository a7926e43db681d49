/** A rectangle in the map's spatial reference: xmin, ymin, xmax, ymax. */
export type Box = [number, number, number, number];
