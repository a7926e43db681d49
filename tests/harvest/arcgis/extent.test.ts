import * as assert from "uvu/assert";
import { projectExtent } from "../../../harvest/arcgis/answers.ts";
import { test } from "../../helpers/suite.ts";

/** An ArcGIS extent. */
function extent(wkid: number, sides: number[], more: object = {}): object {
	const [xmin, ymin, xmax, ymax] = sides;
	return { xmin, ymin, xmax, ymax, spatialReference: { wkid, ...more } };
}

/** Fails unless the extent's sides are those of PROJ, rounded outwards to at most `tolerance` metres. */
function assertSides(actual: ReturnType<typeof projectExtent>, expected: number[], tolerance: number): void {
	assert.ok(actual, "there is no extent");
	const sides = [actual?.xmin, actual?.ymin, actual?.xmax, actual?.ymax] as number[];
	for (const [index, side] of sides.entries()) {
		const distance = Math.abs(side - (expected[index] as number));
		assert.ok(distance <= tolerance, `${sides} is ${distance} m from ${expected}`);
	}
}

// 55° N 100° W by PROJ 9.1.1: echo "55 -100" | cs2cs -f %.3f EPSG:4269 EPSG:3978
const proj: [wkid: number, x: number, y: number][] = [
	[3857, -11131949.079, 7361866.113],
	[102100, -11131949.079, 7361866.113],
	[3978, -313590.934, 673133.942],
	[3979, -313590.934, 673133.942],
	[3347, 5690756.755, 2122393.089],
	[3348, 5690756.755, 2122393.089],
	[3161, -26060.617, 13248060.414],
	[3162, -26060.617, 13248060.414],
	[3005, 2622299.931, 1412538.644],
	[3153, 2622299.931, 1412538.644],
	[3400, 1455291.392, 6195766.38],
	[3401, 955291.392, 6195766.38],
	[32198, -1937765.041, 1651990.692],
	[5070, -268975.395, 3542313.08],
	[102001, -253328.878, 1662744.671],
	[102002, -253013.381, 1692446.283],
	[26907, 3028804.683, 6891869.624],
	[26910, 1956826.085, 6339768.454],
	[26917, -707429.418, 6261317.777],
	[26922, -2461330.5, 7246781.483],
	[32607, 3028804.683, 6891869.624],
	[32615, 52602.96, 6117225.184],
	[32622, -2461330.5, 7246781.483],
];

test("every spatial reference is the one of the EPSG registry, as PROJ has it", () => {
	for (const [wkid, x, y] of proj) {
		for (const from of [4269, 4326, 4617]) {
			assertSides(projectExtent(extent(from, [-100, 55, -100, 55]), wkid), [x, y, x, y], 1);
		}
		const back = projectExtent(extent(wkid, [x, y, x, y]), 4269);
		assertSides(back, [-100, 55, -100, 55], 0.00002);
	}
});

test("well-known places in the map's spatial reference", () => {
	// Ottawa and Vancouver: echo "45.4215 -75.6972" | cs2cs -f %.2f EPSG:4269 EPSG:3978
	const ottawa = projectExtent(extent(4269, [-75.6972, 45.4215, -75.6972, 45.4215]), 3978);
	assertSides(ottawa, [1510614.98, -169810.95, 1510614.98, -169810.95], 1);
	const vancouver = projectExtent(extent(4269, [-123, 49, -123, 49]), 3978);
	assertSides(vancouver, [-1983277.29, 443717.03, -1983277.29, 443717.03], 1);
});

test("the sides of a rectangle become curves, and the extent holds all of them", () => {
	// Bounds of 8,000 points on the edge, each projected by PROJ 9.1.1.
	const known: [from: object, wkid: number, sides: number[]][] = [
		[extent(4269, [-141.01, 41.67, -52.61, 83.12]), 3978, [-3628670.2, -827983.1, 3389046.5, 3980791]],
		[extent(4326, [-139.06, 48.3, -114.03, 60]), 3978, [-3022017.7, 132265.8, -1016824, 1999405.5]],
		[extent(3857, [-8900000, 5600000, -6300000, 9100000]), 3978, [732647.3, -321295.8, 2905961, 2081336.7]],
		[extent(3978, [1000000, -500000, 2500000, 900000]), 3857, [-9218449.2, 4799259.6, -6415574.4, 7556955.4]],
		[extent(26910, [300000, 5400000, 700000, 6200000]), 3978, [-2175841.5, 334166.6, -1480412, 1218634.1]],
		[extent(3347, [3600000, 600000, 9100000, 4700000]), 3978, [-2528736.8, -950364.5, 3166481.6, 3415490.4]],
	];
	for (const [from, wkid, sides] of known) assertSides(projectExtent(from, wkid), sides, 500);
});

test("an extent in the map's own spatial reference is only rounded outwards", () => {
	assert.equal(projectExtent(extent(3978, [-1.2, 2.1, 3.9, 4]), 3978), {
		wkid: 3978,
		xmin: -2,
		ymin: 2,
		xmax: 4,
		ymax: 4,
	});
});

test("latestWkid goes before wkid, and an unknown one gives way", () => {
	const sides = [-75.6972, 45.4215, -75.6972, 45.4215];
	const plain = projectExtent(extent(4269, sides), 3978);
	assert.ok(plain);
	assert.equal(projectExtent(extent(3857, sides, { latestWkid: 4269 }), 3978), plain);
	assert.equal(projectExtent(extent(4269, sides, { latestWkid: 999999 }), 3978), plain);
});

test("the poles, the antimeridian and the whole world give finite numbers or none", () => {
	const odd = [
		extent(4326, [-180, -90, 180, 90]),
		extent(4326, [-180, 40, 180, 90]),
		extent(4326, [170, 40, 190, 60]),
		extent(4326, [-100, -90, -90, -89.99]),
		extent(4326, [-100, 95, -90, 99]),
		extent(4326, [1e300, 1e300, 1e308, 1e308]),
		extent(3857, [-20037508.34, -20037508.34, 20037508.34, 20037508.34]),
		extent(3857, [-1e15, -1e15, 1e15, 1e15]),
		extent(26910, [-1e9, -1e9, 1e9, 1e9]),
	];
	for (const one of odd) {
		for (const wkid of [3978, 3857, 4326]) {
			const projected = projectExtent(one, wkid);
			if (!projected) continue;
			for (const side of Object.values(projected))
				assert.ok(Number.isFinite(side), JSON.stringify(projected));
			assert.ok(Math.abs(projected.xmax) <= 40_100_000 && Math.abs(projected.ymin) <= 40_100_000);
		}
	}
	assert.is(
		projectExtent(extent(4326, [-180, -90, 180, 90]), 3978),
		null,
		"the far pole lies nowhere on the map",
	);
});

test("what is no rectangle is no extent", () => {
	const spatialReference = { wkid: 4269 };
	for (const one of [
		null,
		[],
		"NaN",
		{},
		{ xmin: "NaN", ymin: "NaN", xmax: "NaN", ymax: "NaN", spatialReference },
		{ xmin: "1", ymin: "1", xmax: "2", ymax: "2", spatialReference },
		{ xmin: 2, ymin: 1, xmax: 1, ymax: 2, spatialReference },
		{ xmin: 1, ymin: null, xmax: 2, ymax: 2, spatialReference },
		{ xmin: 1, ymin: 1, xmax: 2, ymax: 2, spatialReference: { wkt: "GEOGCS[]" } },
		{ xmin: 1, ymin: 1, xmax: 2, ymax: 2, spatialReference: { wkid: "4269" } },
		{ xmin: 1, ymin: 1, xmax: 2, ymax: 2, spatialReference: null },
	]) {
		assert.is(projectExtent(one, 3978), null, JSON.stringify(one));
	}
	assert.is(projectExtent(extent(4269, [1, 1, 2, 2]), 123456), null);
});

test.run();
