// The default export must be a function.
export default 42;
