import { Local } from "../helpers/local.ts";
import { testStore } from "./contract.ts";

testStore("the local store", async () => {
	const local = await Local.open();
	return { store: local.store, close: () => local.end() };
});
