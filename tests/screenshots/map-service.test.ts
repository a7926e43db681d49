import { decode } from "fast-png";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { answerAsMapService } from "./map-service.ts";

const box = "-1500000,0,1500000,2000000";

function ask(query: string) {
	return answerAsMapService(new URL(`https://maps.example.ca/wms?${query}`));
}

test("a picture has the size that is asked for, is the same each time, and another one for another layer", () => {
	const wms = `REQUEST=GetMap&LAYERS=rivers&BBOX=${box}&WIDTH=300&HEIGHT=200`;
	const first = ask(wms);
	assert.equal([first.status, first.contentType], [200, "image/png"]);
	const { width, height, data } = decode(first.body);
	assert.equal([width, height], [300, 200]);
	const drawn = data.filter((value, at) => at % 4 === 3 && value > 0).length;
	assert.ok(drawn > 1_000 && drawn < 300 * 200, String(drawn));
	assert.ok(ask(wms).body.equals(first.body));
	assert.not.ok(ask(wms.replace("rivers", "lakes")).body.equals(first.body));
	const arcgis = decode(ask(`bbox=${box}&size=120,80&layers=show:0`).body);
	assert.equal([arcgis.width, arcgis.height], [120, 80]);
});

test("a legend is a picture, and what is asked otherwise is not there", () => {
	assert.is(ask("request=GetLegendGraphic&layer=x").contentType, "image/png");
	for (const query of [
		"",
		"f=json",
		`bbox=${box}&size=0,0`,
		`bbox=1,2&size=10,10`,
		`bbox=${box}&size=99999,99999`,
	])
		assert.is(ask(query).status, 404, query);
});

test.run();
