// A process that does what the path of an address says, in place of the harvester's.
function finish(id, text) {
	const findings = [{ state: "down", lang: "en", pointer: "", text }];
	process.send({ id, result: { harvested: { description: {}, findings }, checked: [] } });
}

const deeds = {
	"/good": (id) => finish(id, `process ${process.pid}`),
	"/waits": (id) => setTimeout(() => finish(id, `process ${process.pid}`), 100),
	"/eats": () => {
		for (const kept = []; ; ) kept.push([kept.length]);
	},
	"/loops": () => {
		for (;;);
	},
	"/exits": () => process.exit(3),
	"/fails": (id) =>
		process.send({
			id,
			result: { reason: { code: "unread", values: ["a fault of the program"] }, orders: 1 },
		}),
};

process.on("message", ({ id, registration }) => deeds[new URL(registration.en.service_url).pathname](id));
process.on("disconnect", () => process.exit());
process.send("ready");
