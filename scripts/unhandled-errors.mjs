// A reporter for Vitest that writes down the errors that no test has caught: its JSON report leaves them out.
import { writeFileSync } from 'node:fs'

export default class UnhandledErrors {
  onTestRunEnd(_modules, errors) {
    writeFileSync(process.env.QUOTA_TEST_UNHANDLED, JSON.stringify(errors.map(({ message }) => message)))
  }
}
