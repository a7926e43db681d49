import { temporaryFolder } from "../helpers/world.ts";
import { testStore } from "./contract.ts";
import { openEmpty } from "./git-store.ts";

testStore("the local store", async () => {
	const folder = await temporaryFolder();
	const store = await openEmpty(folder.path);
	const close = async () => {
		await store.close();
		await folder.remove();
	};
	return { store, close };
});
