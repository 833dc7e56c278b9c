// What may import what. Edit the two tables; the rules below follow from them.

/** The rooms of packages/quota/src and what each imports. `errors` is open to all, and a room to itself. */
const rooms = {
  errors: [],
  time: [],
  options: ['time'],
  windows: ['options', 'time'],
  policy: ['options', 'windows', 'time'],
  decision: ['windows', 'policy', 'time'],
  store: ['decision', 'policy', 'windows', 'time'],
  memory: ['options', 'store', 'windows', 'decision', 'policy', 'time'],
  scratch: ['memory', 'store', 'windows', 'time'],
  calendar: ['windows'],
  adaptive: ['options', 'policy', 'store', 'time'],
  engine: ['options', 'time', 'windows', 'policy', 'decision', 'store', 'memory', 'adaptive'],
  http: ['options', 'engine', 'waiting', 'store', 'decision', 'policy', 'windows', 'time'],
  'score-gateway': ['options', 'http', 'decision', 'policy', 'time'],
  metrics: ['options', 'engine', 'decision', 'policy'],
  top: ['options', 'engine', 'policy', 'store', 'time'],
  waiting: ['options', 'engine', 'decision', 'policy', 'store', 'windows', 'time'],
}

/** The same of packages/quota-redis/src. */
const redisRooms = {
  lua: [],
  connection: ['lua'],
  keys: [],
  counters: ['keys', 'connection', 'lua'],
  store: ['counters', 'keys', 'connection', 'lua'],
  settings: ['store', 'connection', 'lua'],
  factor: ['settings', 'store', 'connection', 'lua'],
  outcomes: ['store', 'connection', 'lua'],
  rest: ['settings', 'store', 'counters', 'keys', 'connection', 'lua'],
  leases: ['store', 'counters', 'keys', 'connection', 'lua'],
}

/** The same of packages/quota-sql/src. */
const sqlRooms = {
  schema: [],
  step: ['schema'],
  postgres: ['step', 'schema'],
  sqlite: ['step', 'schema'],
  watch: ['postgres', 'schema'],
  settings: ['watch', 'postgres', 'step', 'schema'],
  factor: ['watch', 'step', 'schema'],
  outcomes: ['watch', 'schema'],
}

/** Outside packages that only some rooms may use. */
const outside = {
  'ipaddr.js': ['http'],
  luxon: ['calendar'],
  'prom-client': ['metrics'],
  '@opentelemetry/api': ['metrics'],
}

const core = '^packages/quota/src'
const anyOf = (names) => `(?:${names.join('|')})`

const roomRules = Object.entries(rooms).map(([room, imports]) => ({
  name: `room-${room}`,
  comment: `${room}/ imports ${imports.join(', ') || 'no other room'}${room === 'errors' ? '' : ' (and errors)'}; see ARCHITECTURE.md.`,
  severity: 'error',
  from: { path: `${core}/${room}/` },
  to: { path: `${core}/`, pathNot: `${core}/${anyOf([room, 'errors', ...imports])}/` },
}))

/**
 * The rooms of the gateway and what each imports: no two of them import each other. `app.ts` and `services.ts` put them
 * together; any of them may use the files in `leaves`.
 */
const gatewayRooms = {
  start: [],
  log: [],
  db: ['start'],
  http: ['db', 'log'],
  audit: ['db', 'http'],
  users: ['audit', 'db', 'http'],
  quota: ['audit', 'users', 'db', 'http', 'log', 'start'],
  config: ['quota', 'http', 'start'],
  credentials: ['users', 'audit', 'db', 'http', 'config'],
  usage: ['quota', 'db', 'http'],
  adaptive: ['quota', 'audit', 'db', 'http'],
  metrics: ['quota', 'http'],
  openapi: ['quota', 'http'],
  health: ['quota', 'db', 'http'],
  charts: ['openapi', 'db', 'http'],
  scores: ['charts', 'db', 'http'],
  idempotency: ['db', 'http'],
  players: ['idempotency', 'db', 'http'],
  sources: ['scores', 'db', 'http', 'log'],
  sync: ['sources', 'scores', 'charts', 'openapi', 'db', 'http'],
  pages: [],
  reference: ['pages'],
  console: ['pages'],
  demo: ['players', 'db', 'scores', 'credentials', 'users', 'config', 'quota', 'log', 'start'],
  cli: ['charts', 'credentials', 'users', 'audit', 'config', 'quota', 'db', 'http', 'start'],
  overview: ['usage', 'quota', 'http'],
  uploads: ['scores', 'charts', 'usage', 'quota', 'db', 'http', 'log'],
  'front-pages': ['pages'],
}
const leaves = ['addresses', 'beijing-day', 'chores']
const gateway = '^examples/gateway/src'

for (const [room, imports] of Object.entries(gatewayRooms)) {
  const mutual = imports.find((each) => gatewayRooms[each].includes(room))
  if (mutual !== undefined) throw new Error(`the gateway's rooms ${room} and ${mutual} import each other`)
}

const gatewayRoomRules = Object.entries(gatewayRooms).map(([room, imports]) => ({
  name: `gateway-${room}`,
  comment: `The gateway's ${room}/ imports ${imports.join(', ') || 'no other room'}; see its README.`,
  severity: 'error',
  from: { path: `${gateway}/${room}/` },
  to: { path: `${gateway}/`, pathNot: `${gateway}/(?:${anyOf([room, ...imports])}/|${anyOf(leaves)}\\.ts$)` },
}))

const storeRoomRules = Object.entries({ 'quota-redis': redisRooms, 'quota-sql': sqlRooms }).flatMap(([name, all]) =>
  Object.entries(all).map(([room, imports]) => ({
    name: `${name}-room-${room}`,
    comment: `src/${room} of ${name} imports ${imports.join(', ') || 'no other room'}; see ARCHITECTURE.md.`,
    severity: 'error',
    from: { path: `^packages/${name}/src/${room}/` },
    to: { path: `^packages/${name}/src/`, pathNot: `^packages/${name}/src/${anyOf([room, ...imports])}/` },
  })),
)

const outsideRules = Object.entries(outside).map(([name, allowed]) => ({
  name: `only-some-rooms-use-${name}`,
  comment: `${name} is used in ${allowed.join(' and ')} alone.`,
  severity: 'error',
  from: { path: `${core}/`, pathNot: `${core}/${anyOf(allowed)}/` },
  to: { path: `(?:^|/)node_modules/(?:@types/)?${name}/` },
}))

const workspaceFolder = '^(packages/[^/]+|examples/[^/]+|internal/[^/]+|bench|docs)/'

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...roomRules,
    ...outsideRules,
    {
      name: 'known-rooms',
      comment: 'A folder or file of the core is not in the table of rooms at the top of this file.',
      severity: 'error',
      from: {},
      to: {
        path: `${core}/`,
        pathNot: `${core}/(?:(?:index|store|adaptive|calendar|internal|http|otel|prometheus|score-gateway|top|waiting)\\.ts$|${anyOf(Object.keys(rooms))}/)`,
      },
    },
    {
      name: 'public-entry-points',
      comment: 'Other packages are imported by their public entry point, never by a path inside them.',
      severity: 'error',
      from: { path: workspaceFolder },
      to: {
        path: '^(?:packages|examples)/',
        pathNot: [
          '^$1/',
          '^packages/[^/]+/src/(?:index|store|adaptive|augment|calendar|internal|http|hono|leases|mcp|model|otel|prometheus|rest|score-gateway|sqlite|top|torture|waiting)\\.ts$',
          '^examples/console/src/limits\\.ts$',
          '^examples/client/(?:src/index|src/generated/gateway|scripts/types-of)\\.ts$',
        ],
      },
    },
    {
      name: 'by-package-name',
      comment: 'Other packages are imported by name, never by a relative path.',
      severity: 'error',
      from: { path: workspaceFolder },
      to: { path: '^(?:packages|examples)/', pathNot: '^$1/', dependencyTypes: ['local'] },
    },
    {
      name: 'no-circles',
      comment: 'Files that import each other in a circle are one file, or need a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...gatewayRoomRules,
    ...storeRoomRules,
    {
      name: 'console-pages',
      comment: 'The pages of the specification import no extra.',
      severity: 'error',
      from: { path: '^examples/console/src/(?:pages|form|ui|words|api)/' },
      to: { path: '^examples/console/src/extras/' },
    },
    {
      name: 'gateway-known-rooms',
      comment: 'A folder of the gateway is not in the table of its rooms.',
      severity: 'error',
      from: {},
      to: { path: `${gateway}/[^/]+/`, pathNot: `${gateway}/${anyOf(Object.keys(gatewayRooms))}/` },
    },
    {
      name: 'resolvable',
      comment:
        'An import that cannot be found; a deep import of a package ends here, as its `exports` do not offer it.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^cloudflare:' },
    },
    {
      name: 'sources-without-tests',
      comment: 'Sources never import tests.',
      severity: 'error',
      from: { path: '/src/' },
      to: { path: '^(?:packages|examples)/[^/]+/test/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(?:^examples/next/|/dist/|\\.d\\.ts$|/tsup\\.config\\.ts$)' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@scoregw/source', 'import', 'types', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json', '.d.ts'],
    },
  },
}
