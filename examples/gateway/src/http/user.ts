/** A person with an account. */
export interface User {
  readonly id: string
  readonly name: string
  readonly role: 'player' | 'admin'
}

/** A user as the database has it. */
export interface StoredUser extends User {
  /** Whether every credential of the user is refused. */
  readonly disabled: boolean
}
