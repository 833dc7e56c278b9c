import { close, quota } from './quota.ts'

// npm run worker -- acme
const subject = process.argv[2] ?? 'acme'
const result = await quota.run(
  { subject, operation: 'render' },
  async () => 'rendered',
)
if (result.allowed) console.log(result.value)
else console.log(`refused by ${result.decision?.refusedBy.name}`)
const { perMinute } = (await quota.status(subject)).limits
console.log(`${perMinute?.used} of ${perMinute?.limit} requests`)
await close()
