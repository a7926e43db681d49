/** A rectangle in the map's spatial reference: xmin, ymin, xmax, ymax. */
export type Box = [number, number, number, number];

/** Deepest cell: a 64th of the whole square on each side. */
const deepest = 6;

/**
 * The square that cells divide, in metres of EPSG:3978: Canada with much around it. In another spatial reference the
 * cells are coarser or finer, and still right, since what is outside belongs to the cells at the edge.
 */
const square: Box = [-4_194_304, -3_145_728, 4_194_304, 5_242_880];

/**
 * The smallest cell of a quadtree that holds a rectangle: figures 0 to 3 from the whole square down, west before east
 * and south before north; `""` is the whole square.
 */
export function placeOf([xmin, ymin, xmax, ymax]: Box): string {
	let [left, bottom, right, top] = square;
	let cell = "";
	while (cell.length < deepest) {
		const x = (left + right) / 2;
		const y = (bottom + top) / 2;
		const isWest = xmax < x;
		const isSouth = ymax < y;
		if ((!isWest && xmin < x) || (!isSouth && ymin < y)) break;
		cell += String((isWest ? 0 : 1) + (isSouth ? 0 : 2));
		if (isWest) right = x;
		else left = x;
		if (isSouth) top = y;
		else bottom = y;
	}
	return cell;
}

/** Largest number of degrees; what is larger is metres. */
const mostDegrees = 400;

/** A somewhat larger rectangle in fewer digits: whole kilometres, or whole degrees. */
export function roundedOut(box: Box): Box {
	const step = box.some((number) => Math.abs(number) > mostDegrees) ? 1_000 : 1;
	const [xmin, ymin, xmax, ymax] = box.map((number) => number / step) as Box;
	return [Math.floor(xmin) * step, Math.floor(ymin) * step, Math.ceil(xmax) * step, Math.ceil(ymax) * step];
}

/** Whether two rectangles have a point in common. */
export function meets(one: Box, other: Box): boolean {
	return one[0] <= other[2] && other[0] <= one[2] && one[1] <= other[3] && other[1] <= one[3];
}
