/** A Lua file as text: the packed build, the tests and `scripts/lua-as-text.mjs` read it so. */
declare module '*.lua' {
  const text: string
  export default text
}
