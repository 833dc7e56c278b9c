const { startCluster } = await import('@scoregw/redis-server')
const { deciders, leased } = await import('/work/main/bench/src/cluster/deciders.ts')
const { batches } = await import('/work/main/bench/src/memory/users.ts')
const { MAX_LIMIT } = await import('@scoregw/quota')
const users = batches.flat()
const servers = await startCluster()
const script = deciders(servers.seeds); for (const d of script.slice(1)) await d.stop()
globalThis.__nocork = true; const b = leased(servers.seeds, 'leased', MAX_LIMIT); globalThis.__nocork = false
const a = leased(servers.seeds, 'leased', MAX_LIMIT)
const all = [script[0], a, b], names = ['script', 'corked', 'not corked']
const cpu = async () => { let s = 0; for (const n of servers.nodes) { const i = String(await n.cli('INFO', 'cpu')); s += Number(/used_cpu_sys:([\d.]+)/.exec(i)[1]) + Number(/used_cpu_user:([\d.]+)/.exec(i)[1]) } return s }
const run = async (d, callers, ms) => {
  const s0 = await cpu(); const t0 = performance.now(); const c0 = process.cpuUsage(); let n = 0
  await Promise.all(Array.from({length: callers}, async () => { while (performance.now() - t0 < ms) { await d.admit(users[n++ % users.length]) } }))
  const el = performance.now() - t0; const c = process.cpuUsage(c0); const s = await cpu() - s0
  return { per: n / el * 1000, cpuUs: (c.user + c.system) / n, srv: s * 1e6 / n }
}
try {
  for (const callers of [64, 512]) {
    for (const d of all) await run(d, callers, 500)
    const rs = all.map(() => [])
    for (let r = 0; r < 9; r++) for (const [i, d] of all.entries()) rs[i].push(await run(d, callers, 300))
    const med = (a) => a.toSorted((x, y) => x - y)[Math.floor(a.length / 2)]
    for (const i of all.keys()) console.log(callers, names[i].padEnd(12), Math.round(med(rs[i].map(r => r.per))), 'ratio', med(rs[i].map((r, k) => r.per / rs[0][k].per)).toFixed(2), 'client us', med(rs[i].map(r => r.cpuUs)).toFixed(1), 'servers us', med(rs[i].map(r => r.srv)).toFixed(1))
  }
} finally { for (const d of all) await d.stop(); await servers.stop() }
