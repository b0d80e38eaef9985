/** What the ids of guests begin with. A user's token with such a subject is refused. */
export const GUEST_PREFIX = 'guest_'
