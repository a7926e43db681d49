/** The site's picture: three layers above each other, on light and dark tabs. */
export const iconSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g stroke="#fff" stroke-width="1.5" stroke-linejoin="round"><path fill="#7fb2dc" d="M16 13 30 21 16 29 2 21z"/><path fill="#3f7fb5" d="M16 8 30 16 16 24 2 16z"/><path fill="#26374a" d="M16 3 30 11 16 19 2 11z"/></g></svg>
`;
