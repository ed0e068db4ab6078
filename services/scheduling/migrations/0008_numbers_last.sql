-- The number of a service request is given in the statement that stores it, so that nobody waits for it longer than that:
-- its message is put together here.

-- A value of a protobuf message as it stands behind its tag: its length as a varint, and itself. Below 2 MiB; else null.
create function length_delimited(value bytea) returns bytea language sql immutable strict parallel safe as $$
  select case
    when n < 1 << 7 then set_byte('\x00', 0, n)
    when n < 1 << 14 then set_byte(set_byte('\x0000', 0, (n & 127) | 128), 1, n >> 7)
    when n < 1 << 21 then set_byte(set_byte(set_byte('\x000000', 0, (n & 127) | 128), 1, ((n >> 7) & 127) | 128), 2, n >> 14)
  end || value
  from (select length(value) as n) l
$$;
