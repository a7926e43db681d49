import type { Shape } from "../../registry/index/shape.ts";

/**
 * Those of `numbers` that are in `sure`: the ones first whose names stand in one piece with others.
 * @param shape how the names are cut
 */
export function crowdedFirst(numbers: readonly string[], sure: readonly string[], shape: Shape): string[] {
	const are = new Set(sure);
	const left = numbers.filter((number) => are.has(number));
	const counts = new Map<string, number>();
	const pathOf = (number: string) => shape.find(number) ?? "";
	for (const number of left) counts.set(pathOf(number), (counts.get(pathOf(number)) ?? 0) + 1);
	const crowd = (number: string) => counts.get(pathOf(number)) ?? 0;
	return left.sort((a, b) => crowd(b) - crowd(a) || (a < b ? -1 : 1));
}
