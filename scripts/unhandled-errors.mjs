// A reporter for Vitest that writes down how many errors no test has caught: its JSON report does not tell.
import { writeFileSync } from 'node:fs'

export default class UnhandledErrors {
  onTestRunEnd(_modules, errors) {
    writeFileSync(process.env.QUOTA_TEST_UNHANDLED, String(errors.length))
  }
}
