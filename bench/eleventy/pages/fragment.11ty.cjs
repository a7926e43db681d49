// One page for each fragment, rendered by the project's own renderer.
const { renderLayer } = require(process.env.RENDERER);

const settings = { mapWkid: 3978, metadataUrl: null, catalogueUrl: null };

exports.data = {
	pagination: { data: "fragments", size: 1, alias: "fragment" },
	permalink: ({ fragment }) => `v0.9/doc/${fragment.lang}/${fragment.smallkey}`,
};

exports.render = ({ fragment }) =>
	renderLayer(["v0.9"], fragment.lang, fragment.smallkey, fragment.registration, null, settings)[0];
