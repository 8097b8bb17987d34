-- A small shop as many are: integer keys, and a text without a default, which two copies cannot share.
CREATE TABLE customers(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL
);
CREATE TABLE orders(
  id INTEGER PRIMARY KEY,
  customer INTEGER NOT NULL REFERENCES customers ON DELETE CASCADE,
  note TEXT
);
INSERT INTO customers(id, name) VALUES(1, 'Ada'), (2, 'Grace');
INSERT INTO orders(id, customer, note) VALUES(1, 1, 'ring twice'), (2, 2, NULL);
