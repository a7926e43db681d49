import { testStore } from "./contract.ts";
import { startPeer } from "./github-peer.ts";

testStore("the GitHub store", async () => {
	const peer = await startPeer();
	return { store: peer.store(), close: () => peer.close() };
});
